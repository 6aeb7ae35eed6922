/** The sign of the house: three lines of a log, the last one still being written. */
export function Mark() {
  return (
    <svg viewBox="0 0 32 32" className="size-7 shrink-0" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="#4338ca" />
      <path d="M9 10h14M9 16h14M9 22h8" stroke="#fff" strokeWidth="3" strokeLinecap="round" />
    </svg>
  );
}
