import { render, screen } from '@testing-library/react';
import { Component, type ReactNode } from 'react';
import { expect, test, vi } from 'vitest';
import { useImport } from './use-import';

function Imported({ load }: { load: () => Promise<string> }) {
  return <p>{useImport(load) ?? 'loading'}</p>;
}

class Boundary extends Component<{ children: ReactNode }, { message?: string }> {
  override state: { message?: string } = {};
  static getDerivedStateFromError = (error: Error) => ({ message: error.message });
  override render = () => this.state.message ?? this.props.children;
}

const loaded = () => Promise.resolve('loaded');

test('a module is rendered once it is loaded', async () => {
  render(<Imported load={loaded} />);
  expect(screen.getByText('loading')).toBeVisible();
  expect(await screen.findByText('loaded')).toBeVisible();
});

test('a module that fails to load throws to the error boundary', async () => {
  vi.spyOn(console, 'error').mockReturnValue();
  const failed = () => Promise.reject(new Error('failed to load'));
  render(
    <Boundary>
      <Imported load={failed} />
    </Boundary>,
  );
  expect(await screen.findByText('failed to load')).toBeVisible();
});
