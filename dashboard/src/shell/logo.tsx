// The logo.

export function Logo() {
  return (
    <svg viewBox="0 0 32 32" className="size-6" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="#1f4fd8" />
      <path
        d="M22 11.5a7.5 7.5 0 1 0 0 9"
        fill="none"
        stroke="#fff"
        strokeWidth="3.5"
        strokeLinecap="round"
      />
      <circle cx="21" cy="16" r="2.2" fill="#fff" />
    </svg>
  );
}
