// A keyboard key.

export function Key({ children }: { children: string }) {
  return (
    <kbd className="inline-block min-w-5 rounded border border-line bg-sunken px-1.5 text-center font-sans text-muted text-xs">
      {children}
    </kbd>
  );
}
