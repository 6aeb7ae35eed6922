import { defineConfig } from "tsdown";

/** ESM and CJS with types of both; one file each, no run-time dependency. */
export default defineConfig({
  entry: ["src/index.ts"],
  format: ["esm", "cjs"],
  target: "es2022",
  platform: "neutral",
  dts: true,
  banner: { dts: '/// <reference lib="esnext.disposable" />' }, // for those who have no Symbol.asyncDispose otherwise
  sourcemap: false,
  clean: true,
  fixedExtension: true,
});
