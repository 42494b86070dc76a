// `npm run store -- NAME FOLDER`: writes a store for manual use with `cargo cobalt serve`.
import { STORES, type StoreName, writeStore } from './write';

export function run([name = '', folder]: string[]): void {
  if (!isStore(name) || !folder) {
    throw new Error(
      `expected a store (${Object.keys(STORES).join(', ')}) and a folder: npm run store -- demo FOLDER`,
    );
  }
  console.log(`COBALT_DIR=${writeStore(name, folder)} cargo cobalt serve`);
}

function isStore(name: string): name is StoreName {
  return Object.hasOwn(STORES, name);
}
