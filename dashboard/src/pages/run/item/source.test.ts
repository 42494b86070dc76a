import { describe, expect, test } from 'vitest';
import { editorUrl, itemPlace, placeText } from './source';

const place = { path: 'tests/support.rs', absolutePath: '/home/me/my shop/tests/support.rs', line: 24 };

describe('a place in a source file', () => {
  test('is shown with its line', () => {
    expect(placeText(place)).toBe('tests/support.rs:24');
  });

  test.each([
    ['vscode://file/{path}:{line}:{column}', 'vscode://file/home/me/my%20shop/tests/support.rs:24:1'],
    ['vscode://file{path}:{line}', 'vscode://file/home/me/my%20shop/tests/support.rs:24'],
    ['idea://open?file={path}&line={line}', 'idea://open?file=/home/me/my%20shop/tests/support.rs&line=24'],
  ])('opens in the editor by the template %s', (template, url) => {
    expect(editorUrl(template, place)).toBe(url);
  });

  test('keeps the drive of a path of Windows', () => {
    const windows = { ...place, absolutePath: 'C:\\shop\\tests\\a#b.rs' };
    expect(editorUrl('vscode://file/{path}:{line}', windows)).toBe('vscode://file/C:/shop/tests/a%23b.rs:24');
  });

  test.each(['javascript:alert(`{path}`)', 'https://example.com/{path}', 'data:text/html,{path}', '{path}'])(
    'never opens the template %s',
    (template) => {
      expect(editorUrl(template, place)).toBeUndefined();
    },
  );

  test('does not open without a template or an absolute path', () => {
    expect(editorUrl(undefined, place)).toBeUndefined();
    expect(editorUrl('vscode://file/{path}', { path: 'a.rs', line: 1 })).toBeUndefined();
  });
});

describe('the source that an item names', () => {
  test.each([
    [{ source: 'src/agent.rs:12' }, 'src/agent.rs', 12],
    [{ source: { file: 'src/agent.rs', line: 3 } }, 'src/agent.rs', 3],
    [{ location: { path: 'data/a.jsonl', line: 7 } }, 'data/a.jsonl', 7],
  ])('%j is in the project', (input, path, line) => {
    expect(itemPlace(input, place)).toEqual({ path, line, absolutePath: `/home/me/my shop/${path}` });
  });

  test.each(['../../etc/passwd.txt:1', '/etc/hosts.txt:1'])('%s is not opened', (source) => {
    expect(itemPlace({ source }, place)?.absolutePath).toBeUndefined();
  });

  test.each(['https://example.com', 'the manual', 'wikipedia.org', 12, null])('%j is no place', (source) => {
    expect(itemPlace({ source }, place)).toBeUndefined();
  });
});
