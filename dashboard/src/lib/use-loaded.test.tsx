import { render, screen } from '@testing-library/react';
import { Component, type ReactNode } from 'react';
import { expect, test, vi } from 'vitest';
import { useLoaded } from './use-loaded';

function Shown({ part }: { part: () => Promise<string> }) {
  return <p>{useLoaded(part) ?? 'loading'}</p>;
}

class Boundary extends Component<{ children: ReactNode }, { message?: string }> {
  override state: { message?: string } = {};
  static getDerivedStateFromError = (error: Error) => ({ message: error.message });
  override render = () => this.state.message ?? this.props.children;
}

const here = () => Promise.resolve('here');

test('a part is drawn once it has come', async () => {
  render(<Shown part={here} />);
  expect(screen.getByText('loading')).toBeVisible();
  expect(await screen.findByText('here')).toBeVisible();
});

test('a part that does not come is an error of what holds it', async () => {
  vi.spyOn(console, 'error').mockReturnValue();
  const gone = () => Promise.reject(new Error('it is gone'));
  render(
    <Boundary>
      <Shown part={gone} />
    </Boundary>,
  );
  expect(await screen.findByText('it is gone')).toBeVisible();
});
