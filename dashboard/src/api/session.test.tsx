import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { mockServer } from '../test/server';
import { sendJson } from './client';
import { SessionProvider, useCanWrite, useReadOnlyHint } from './session';
import { takeTokenFromAddress } from './write-token';

afterEach(() => localStorage.clear());

function Permission() {
  return (
    <p>
      {useCanWrite() ? 'writes' : 'reads'}: {useReadOnlyHint()}
    </p>
  );
}

const show = () =>
  render(
    <QueryClientProvider client={new QueryClient()}>
      <SessionProvider>
        <Permission />
      </SessionProvider>
    </QueryClientProvider>,
  );

test('the server says whether the token is valid', async () => {
  localStorage.setItem('cobalt-write-token', '0a1b');
  mockServer({
    '/api/session': (_, __, headers) =>
      headers?.get('x-cobalt-token') === '0a1b' ? { canWrite: true } : { canWrite: false, reason: 'noToken' },
  });
  const { unmount } = show();
  expect(await screen.findByText('writes:')).toBeVisible();
  unmount();
  localStorage.setItem('cobalt-write-token', '0c');
  show();
  expect(await screen.findByText(/reads: .*open the link/)).toBeVisible();
});

test('a wrong token in a link does not replace a valid one', async () => {
  localStorage.setItem('cobalt-write-token', '0a1b');
  history.replaceState(null, '', '/#token=00');
  takeTokenFromAddress();
  mockServer({
    '/api/session': (_, __, headers) =>
      headers?.get('x-cobalt-token') === '0a1b' ? { canWrite: true } : { canWrite: false, reason: 'noToken' },
  });
  show();
  expect(await screen.findByText('writes:')).toBeVisible();
  expect(localStorage.getItem('cobalt-write-token')).toBe('0a1b');
});

test('a token that the server hands out is used', async () => {
  let token: string | null | undefined;
  mockServer({
    '/api/session': { canWrite: true, token: '0d' },
    '/api/jobs': (_, __, headers) => {
      token = headers?.get('x-cobalt-token');
      return {};
    },
  });
  show();
  await screen.findByText('writes:');
  await sendJson('POST', '/api/jobs', {});
  expect(token).toBe('0d');
  expect(localStorage.length).toBe(0);
});
