// How the page is built, served while it is written, and tested.
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

// `npm run dev` shows the page as it is written; what it asks goes to `cargo cobalt serve`.
const server = process.env.COBALT_SERVER ?? 'http://127.0.0.1:4000';

export default defineConfig({
  plugins: [react(), tailwindcss()],
  build: { target: 'es2023', modulePreload: { polyfill: false }, chunkSizeWarningLimit: 400 },
  server: { proxy: { '/api': { target: server, changeOrigin: true } } },
  test: {
    environment: 'happy-dom',
    include: ['src/**/*.test.{ts,tsx}'],
    setupFiles: ['src/test-setup.ts'],
    // Looking up roles takes its time on a machine that does other things, too.
    testTimeout: 20_000,
  },
});
