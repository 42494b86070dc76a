// The end-to-end tests: the built page in Debian's Chromium, served by the real command over real stores.
import { defineConfig } from '@playwright/test';

export default defineConfig({
  testDir: 'e2e',
  globalSetup: './e2e/programs.ts',
  // Each worker has servers and a browser of its own; more of them would but wait for each other on two cores.
  workers: 2,
  forbidOnly: Boolean(process.env.CI),
  // What passes at the second try only is told as flaky: on a busy machine a browser can be late by more than a test waits.
  retries: 1,
  timeout: 60_000,
  expect: { timeout: 10_000 },
  reporter: process.env.CI ? 'list' : 'line',
  use: {
    viewport: { width: 1440, height: 900 },
    // A test that fails for a moment of an animation tells nothing.
    contextOptions: { reducedMotion: 'reduce' },
    // A trace costs a third of the time of a test, so that only a second try has one.
    trace: 'on-first-retry',
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
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
