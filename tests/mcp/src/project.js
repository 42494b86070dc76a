// A temporary package with an example agent.
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { WORKSPACE } from './programs.js';

const FIXTURES = join(WORKSPACE, 'tests/mcp/fixture');

export class Project {
  /**
   * A copy of a fixture, which is deleted after the tests of a file. All packages share a target folder, where cargo tells
   * them apart by name: each test file needs a unique one.
   */
  constructor(name, fixture = 'capitals') {
    this.name = name;
    this.parent = realpathSync(mkdtempSync(join(tmpdir(), 'cobalt-')));
    process.on('exit', () => rmSync(this.parent, { recursive: true, force: true }));
    this.root = join(this.parent, name);
    cpSync(join(FIXTURES, fixture), this.root, { recursive: true });
    cpSync(join(WORKSPACE, 'Cargo.lock'), this.path('Cargo.lock'));
    const manifest = readFileSync(join(FIXTURES, fixture, 'Package.toml'), 'utf8');
    rmSync(this.path('Package.toml'));
    const library = JSON.stringify(join(WORKSPACE, 'cobalt'));
    this.write('Cargo.toml', manifest.replace('NAME', name).replace('LIBRARY', library));
  }

  path(path) {
    return join(this.root, path);
  }

  read(path) {
    return readFileSync(this.path(path), 'utf8');
  }

  write(path, text) {
    mkdirSync(dirname(this.path(path)), { recursive: true });
    writeFileSync(this.path(path), text);
  }

  has(path) {
    return existsSync(this.path(path));
  }

  /** Replaces a text in a file, which must contain it. */
  edit(path, from, to) {
    const text = this.read(path);
    if (!text.includes(from)) throw new Error(`${path} does not contain \`${from}\``);
    this.write(path, text.replace(from, to));
  }
}
