import { defineConfig } from "vite";

// The same page as one module for a notebook's widget, its style and markup inside.
export default defineConfig({
  publicDir: false,
  build: {
    outDir: "../src/sidelight/explorer/static",
    emptyOutDir: false,
    target: "es2022",
    minify: true,
    lib: { entry: "src/widget.ts", formats: ["es"], fileName: () => "widget.js" },
  },
});
