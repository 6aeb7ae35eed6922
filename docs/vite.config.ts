import mdx from "@mdx-js/rollup";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import rehypeHighlight from "rehype-highlight";
import rehypeSlug from "rehype-slug";
import remarkGfm from "remark-gfm";
import { defineConfig } from "vitest/config";

import { content } from "./build/content.ts";
import { rehypeFences } from "./build/fences.ts";

// Everything lives below /docs/; names of assets carry a hash of their content, so they may be kept for ever.
export default defineConfig({
  base: "/docs/",
  plugins: [
    content(),
    {
      enforce: "pre",
      ...mdx({
        providerImportSource: undefined,
        remarkPlugins: [remarkGfm],
        rehypePlugins: [rehypeSlug, rehypeFences, [rehypeHighlight, { detect: false }]],
      }),
    },
    react(),
    tailwindcss(),
  ],
  server: { port: 5174, strictPort: true, fs: { allow: [".", "../snapstate_project/static"] } },
  build: {
    outDir: "dist",
    emptyOutDir: true,
    manifest: true,
    assetsInlineLimit: 0, // a strict policy has no data: fonts and scripts
    modulePreload: { polyfill: false },
    rolldownOptions: { checks: { pluginTimings: false } },
  },
  test: { include: ["src/**/*.test.ts", "build/**/*.test.ts"] },
});
