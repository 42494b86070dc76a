// The window in which tests draw: `happy-dom` lets them say how wide it is, which a browser does not.

interface Simulated {
  happyDOM: { setViewport: (size: { width: number; height: number }) => void };
}

export function setWidth(width: number) {
  (window as unknown as Simulated).happyDOM.setViewport({ width, height: 900 });
}
