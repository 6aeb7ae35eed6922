/** What a month would cost: sliders and figures, reckoned as the server's own bill is. */
import { useState } from "react";

import { bill, line, type Meter, METERS } from "../bill";
import facts from "../facts.json";

const RANGES: Record<Meter, { start: string; most: number; step: number; unit: string }> = {
  checkpoint_writes: { start: "50000", most: 500_000, step: 1000, unit: "saves a month" },
  storage_gb: { start: "5", most: 100, step: 0.5, unit: "GB held" },
  resume_calls: { start: "20000", most: 200_000, step: 1000, unit: "resumes a month" },
  replay_calls: { start: "3000", most: 50_000, step: 500, unit: "replays a month" },
};
const STARTS = Object.fromEntries(METERS.map((meter) => [meter, RANGES[meter].start])) as Record<Meter, string>;

export function Calculator() {
  const [used, setUsed] = useState(STARTS);
  return (
    <section className="calculator" aria-label="Price calculator">
      {METERS.map((meter) => (
        <Slider key={meter} meter={meter} value={used[meter]} onChange={(value) => setUsed({ ...used, [meter]: value })} />
      ))}
      <p className="flex items-baseline justify-between border-t border-line pt-5">
        <span className="font-semibold">A month comes to</span>
        <output data-testid="total" className="font-mono text-3xl font-bold text-accent">{bill(used)}</output>
      </p>
    </section>
  );
}

function Slider({ meter, value, onChange }: { meter: Meter; value: string; onChange: (value: string) => void }) {
  const { most, step, unit } = RANGES[meter];
  const { label, free } = facts.plan[meter];
  const type = (text: string) => onChange(within(text, most));
  return (
    <div className="mb-6">
      <div className="mb-2 flex flex-wrap items-baseline justify-between gap-x-4">
        <label htmlFor={meter} className="font-semibold">{label.split(",")[0]}</label>
        <span className="flex grow items-baseline justify-end gap-2 text-sm text-soft">
          <input className="figure" inputMode="decimal" aria-label={`${label}, as a figure`} value={value} onChange={(event) => type(event.target.value)} />
          <span className="grow sm:grow-0">{unit}</span>
          <span className="w-20 flex-none text-right font-mono text-ink">{line(meter, value)}</span>
        </span>
      </div>
      <input id={meter} name={meter} type="range" min={0} max={most} step={step} value={value} onChange={(event) => type(event.target.value)} />
      <p className="mt-1 text-xs text-soft">{free.toLocaleString("en-US")}{meter === "storage_gb" ? " GB" : ""} free</p>
    </div>
  );
}

/** What was typed, as far as it is a figure of the range. */
export function within(text: string, most: number): string {
  const found = /^\d*(\.\d{0,3})?/.exec(text.trim().replaceAll(",", ""))![0].replace(/^0+(?=\d)/, "");
  if (found === "" || found.startsWith(".")) return "0";
  return Number(found) > most ? String(most) : found;
}
