// Runs a TypeScript script: `node e2e/script.mjs FILE [ARGUMENT…]` calls its function `run`.
import { resolve } from 'node:path';
import { runnerImport } from 'vite';

const [file = '', ...args] = process.argv.slice(2);
const { module } = await runnerImport(resolve(file), { configFile: false, logLevel: 'error' });
await module.run(args);
