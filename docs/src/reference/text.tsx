/** Descriptions of the API: plain text, but that what stands in backticks is code. */
export function Text({ children }: { children: string }) {
  return children.split(/(`[^`]+`)/).map((part, at) => (part.startsWith("`") ? <code key={at}>{part.slice(1, -1)}</code> : part));
}
