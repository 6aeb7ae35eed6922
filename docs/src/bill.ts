/** What a month costs, as the server reckons it: exact, free units off first, half a cent rounded up. */
import facts from "./facts.json";

export type Meter = keyof typeof facts.plan;
export const METERS = Object.keys(facts.plan) as Meter[];

const SCALE = 12; // decimals kept: three of a quantity and four of a price fit, and nothing is rounded before the end
const ONE = 10n ** BigInt(SCALE);

/** The decimal `text` times 10^12; throws on what is no plain decimal or has more decimals. */
export function exact(text: string): bigint {
  const found = /^(\d+)(?:\.(\d{0,12}))?$/.exec(text.trim());
  if (!found) throw new RangeError(`not a decimal: ${text}`);
  return BigInt(found[1]!) * ONE + BigInt((found[2] ?? "").padEnd(SCALE, "0"));
}

/** Exact dollars of one meter, times 10^24. */
function charge(meter: Meter, used: string): bigint {
  const { free, price } = facts.plan[meter];
  const beyond = exact(used) - BigInt(free) * ONE;
  return beyond > 0n ? beyond * exact(price) : 0n;
}

export function bill(used: Record<Meter, string>): string {
  return dollars(METERS.reduce((sum, meter) => sum + charge(meter, used[meter]), 0n));
}

export function line(meter: Meter, used: string): string {
  return dollars(charge(meter, used));
}

function dollars(amount: bigint): string {
  const cent = ONE * ONE / 100n;
  const cents = (amount + cent / 2n) / cent;
  return `$${cents / 100n}.${String(cents % 100n).padStart(2, "0")}`;
}
