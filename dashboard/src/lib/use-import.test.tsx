import { render, renderHook, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { Imported } from '../components/imported';
import { startImport, useHasFailed, useImport } from './use-import';

interface Module {
  text: string;
}

/** Fails until `allow` is called. */
function unreliable() {
  let isAllowed = false;
  const load = vi.fn(async (): Promise<Module> => {
    if (!isAllowed) throw new TypeError('Failed to fetch dynamically imported module');
    return { text: 'loaded' };
  });
  const allow = () => {
    isAllowed = true;
  };
  return { load, allow };
}

function Part({ load }: { load: () => Promise<Module> }) {
  return (
    <Imported load={load} name="the chart" placeholder={<p>loading</p>}>
      {({ text }) => <p>{text}</p>}
    </Imported>
  );
}

test('module appears once it is loaded', async () => {
  const load = async () => ({ text: 'loaded' });
  render(<Part load={load} />);
  expect(screen.getByText('loading')).toBeVisible();
  expect(await screen.findByText('loaded')).toBeVisible();
});

test('loaded module appears at once', async () => {
  const load = async () => ({ text: 'loaded' });
  await startImport(load);
  render(<Part load={load} />);
  expect(screen.getByText('loaded')).toBeVisible();
});

test('failed module leaves the rest of the page', async () => {
  const { load, allow } = unreliable();
  render(
    <>
      <h1>The rest</h1>
      <Part load={load} />
      <Part load={load} />
    </>,
  );
  const [message] = await screen.findAllByRole('alert');
  expect(message).toHaveTextContent('Failed to load the chart');
  expect(screen.getByRole('heading', { name: 'The rest' })).toBeVisible();
  expect(screen.getAllByRole('button', { name: 'Reload page' })).toHaveLength(2);
  const [retry] = screen.getAllByRole('button', { name: 'Try again' });
  await userEvent.click(retry as HTMLElement);
  expect(screen.getAllByRole('alert')).toHaveLength(2);
  allow();
  await userEvent.click(retry as HTMLElement);
  // All parts of the module, and by one request.
  expect(await screen.findAllByText('loaded')).toHaveLength(2);
  expect(screen.queryByRole('alert')).not.toBeInTheDocument();
  expect(load).toHaveBeenCalledTimes(3);
});

test('later part retries a failed module', async () => {
  const { load, allow } = unreliable();
  const { unmount } = render(<Part load={load} />);
  await screen.findByRole('alert');
  unmount();
  allow();
  render(<Part load={load} />);
  expect(await screen.findByText('loaded')).toBeVisible();
});

test('failure is visible without loading', async () => {
  const { load } = unreliable();
  const { result } = renderHook(() => useHasFailed(load));
  expect(result.current).toBe(false);
  expect(load).not.toHaveBeenCalled();
  const { result: module } = renderHook(() => useImport(load));
  await waitFor(() => expect(result.current).toBe(true));
  expect(module.current).toBeUndefined();
});
