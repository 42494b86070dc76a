// The end-to-end tests: the built page in Debian's Chromium, served by the real command over real stores.
import { existsSync } from 'node:fs';
import { defineConfig } from '@playwright/test';

/** Chromium without windows, which needs a quarter less time than the browser. */
const SHELL = '/usr/bin/chromium-headless-shell';

export default defineConfig({
  testDir: 'e2e',
  globalSetup: './e2e/programs.ts',
  // Each worker has its own servers and browser; two cores cannot run more of them.
  workers: 2,
  forbidOnly: Boolean(process.env.CI),
  // A test that passes on retry is reported as flaky: on a busy machine the browser can exceed a timeout.
  retries: 1,
  timeout: 120_000,
  expect: { timeout: 20_000 },
  reporter: process.env.CI ? 'list' : 'line',
  use: {
    viewport: { width: 1440, height: 900 },
    // Animations would cause spurious failures.
    contextOptions: { reducedMotion: 'reduce' },
    // Tracing takes a third of a test's time, so only retries are traced.
    trace: 'on-first-retry',
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? (existsSync(SHELL) ? SHELL : '/usr/bin/chromium'),
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    },
  },
});
