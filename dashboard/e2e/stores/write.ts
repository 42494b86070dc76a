// Writes stores like the library: a folder `.cobalt/results` with one file per run.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Report } from '../../src/api/types';
import { agents, CHART, DOT } from './agents';
import { conversations } from './conversations';
import { demo } from './demo';
import { hostile } from './hostile';
import { huge, large } from './large';
import { variants } from './variants';

export const STORES = {
  demo,
  large,
  huge,
  hostile,
  variants,
  conversations,
  agents,
  empty: (): Report[] => [],
};
export type StoreName = keyof typeof STORES;

/** Writes a store into a project folder, and returns the store's folder, for `COBALT_DIR`. */
export function writeStore(name: StoreName, project: string): string {
  const store = join(project, '.cobalt');
  const results = join(store, 'results');
  mkdirSync(results, { recursive: true });
  for (const report of STORES[name]()) {
    const started = report.timestamp.slice(0, 19).replaceAll(':', '-');
    writeFileSync(
      join(results, `${started}_${slug(report.name)}_${report.id}.json`),
      JSON.stringify(report, null, 2),
    );
  }
  if (name === 'agents') writeImage(join(project, CHART));
  return store;
}

/** The image that an item names. */
function writeImage(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, Buffer.from(DOT.slice(DOT.indexOf(',') + 1), 'base64'));
}

function slug(name: string): string {
  return name.replace(/[^\p{L}\p{N}_.-]+/gu, '-').slice(0, 60);
}
