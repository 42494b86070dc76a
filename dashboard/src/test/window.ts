// Sets the window width in tests, which `happy-dom` supports.

interface Simulated {
  happyDOM: { setViewport: (size: { width: number; height: number }) => void };
}

export function setWidth(width: number) {
  (window as unknown as Simulated).happyDOM.setViewport({ width, height: 900 });
}
