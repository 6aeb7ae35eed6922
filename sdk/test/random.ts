/** Whatever JSON can be, from a seed. */

export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

export function something(random: () => number, depth: number): unknown {
  const kind = Math.floor(random() * (depth > 0 ? 8 : 6));
  const text = (): string =>
    String.fromCodePoint(...Array.from({ length: Math.floor(random() * 6) }, () => letter(random)));
  const many = Array.from({ length: Math.floor(random() * 5) });
  if (kind === 6) return many.map(() => something(random, depth - 1));
  if (kind === 7) return Object.fromEntries(many.map(() => [text(), something(random, depth - 1)]));
  return [
    null,
    true,
    false,
    Math.floor(random() * 1e9),
    (random() - 0.5) * 10 ** Math.floor(random() * 40 - 20),
    text(),
  ][kind];
}

function letter(random: () => number): number {
  return [0, 34, 92, 47, 123, 125, 91, 93, 44, 58, 10, 97, 0xe9, 0x2028, 0xfeff, 0x1f916][
    Math.floor(random() * 16)
  ] as number;
}
