import { afterEach, expect, test, vi } from 'vitest';
import { mockServer } from '../test/server';
import { getJson, sendJson } from './client';
import {
  dropToken,
  keepToken,
  onTokenChange,
  setHandedOutToken,
  takeTokenFromAddress,
  writeToken,
} from './write-token';

afterEach(() => {
  localStorage.clear();
  history.replaceState(null, '', '/');
});

test('the token of the address is stored once it is accepted', () => {
  history.replaceState({ some: 'state' }, '', '/runs/1?item=a#token=0a1b');
  expect(takeTokenFromAddress()).toBe(true);
  expect(location.href).toMatch(/\/runs\/1\?item=a$/);
  expect(history.state).toEqual({ some: 'state' });
  expect(writeToken()).toBe('0a1b');
  expect(localStorage.length).toBe(0);
  keepToken();
  expect(writeToken()).toBe('0a1b');
  expect(localStorage.length).toBe(1);
  expect(takeTokenFromAddress()).toBe(false);
});

test('of several wrong tokens, none replaces the stored one', () => {
  localStorage.setItem('cobalt-write-token', '0a1b');
  for (const wrong of ['00', '01']) {
    history.replaceState(null, '', `/#token=${wrong}`);
    takeTokenFromAddress();
    expect(writeToken()).toBe(wrong);
  }
  expect(dropToken()).toBe(true);
  expect(writeToken()).toBe('0a1b');
  expect(dropToken()).toBe(false);
});

test('the token of a link replaces one that an earlier server has handed out', () => {
  setHandedOutToken('0c');
  expect(writeToken()).toBe('0c');
  history.replaceState(null, '', '/#token=0d');
  takeTokenFromAddress();
  keepToken();
  expect(writeToken()).toBe('0d');
});

test('other fragments stay', () => {
  for (const fragment of ['#items', '#token=', '#token=<script>', '#a&token=0a']) {
    history.replaceState(null, '', `/${fragment}`);
    expect(takeTokenFromAddress()).toBe(false);
    expect(location.hash).not.toBe('');
  }
  expect(writeToken()).toBeUndefined();
});

test('the token is sent with changes only', async () => {
  localStorage.setItem('cobalt-write-token', '0a1b');
  const headers: (string | null | undefined)[] = [];
  const record = (_: URLSearchParams, __?: unknown, sent?: Headers) => {
    headers.push(sent?.get('x-cobalt-token'), sent?.get('content-type'));
    return {};
  };
  mockServer({ '/api/runs': record, '/api/jobs': record });
  await getJson('/api/runs');
  await sendJson('POST', '/api/jobs', { kind: 'run' });
  expect(headers).toEqual([null, null, '0a1b', 'application/json']);
});

test('a token of another tab is noticed', () => {
  const onChange = vi.fn();
  const stop = onTokenChange(onChange);
  window.dispatchEvent(new StorageEvent('storage', { key: 'cobalt-write-token' }));
  window.dispatchEvent(new StorageEvent('storage', { key: 'theme' }));
  expect(onChange).toHaveBeenCalledTimes(1);
  stop();
});
