import { defineConfig } from "vite";

// One script and one style sheet with plain names: the server serves three files and nothing else.
export default defineConfig({
  base: "./",
  publicDir: false,
  build: {
    outDir: "../src/sidelight/explorer/static",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false,
    cssCodeSplit: false,
    rollupOptions: {
      output: { entryFileNames: "app.js", assetFileNames: "app[extname]", codeSplitting: false },
    },
  },
});
