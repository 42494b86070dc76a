// Build, development server and tests of the page.
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

// `npm run dev` proxies API requests to `cargo cobalt serve`.
const server = process.env.COBALT_SERVER ?? 'http://127.0.0.1:4000';

export default defineConfig({
  plugins: [react(), tailwindcss()],
  build: { target: 'es2023', modulePreload: { polyfill: false }, chunkSizeWarningLimit: 400 },
  server: { proxy: { '/api': { target: server, changeOrigin: true } } },
  test: {
    environment: 'happy-dom',
    include: ['src/**/*.test.{ts,tsx}'],
    setupFiles: ['src/test-setup.ts'],
    // Queries by role are slow on a busy machine.
    testTimeout: 20_000,
  },
});
