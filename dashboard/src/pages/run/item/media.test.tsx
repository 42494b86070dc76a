import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { fireEvent, render, screen, within } from '@testing-library/react';
import { describe, expect, test } from 'vitest';
import { wholeItem } from '../../../test/run';
import { errorResponse, mockServer } from '../../../test/server';
import { mediaOf } from './media';
import { MediaList } from './media-list';

const PIXEL = 'data:image/png;base64,iVBORw0KGgo=';

const itemWith = (input: Record<string, unknown>, metadata: Record<string, unknown> = {}) =>
  wholeItem(0, { input, output: { output: 'ok', metadata } }).item;

describe('the images and audio of an item', () => {
  test('are those that input, output and metadata name, each once', () => {
    const item = itemWith(
      { chart: 'charts/a.png', nested: { sound: ['b.MP3', 'charts/a.png'] } },
      { image: PIXEL, note: 'see a.png for more\nand b.png' },
    );
    expect(mediaOf(item, item)).toEqual([
      { name: 'input.chart', kind: 'image', source: { path: 'charts/a.png' } },
      { name: 'input.nested.sound.0', kind: 'audio', source: { path: 'b.MP3' } },
      { name: 'metadata.image', kind: 'image', source: { data: PIXEL } },
    ]);
  });

  test.each([
    'data:image/svg+xml;base64,PHN2Zy8+',
    'data:text/html;base64,PHN2Zy8+',
    'data:image/png,<svg onload=x>',
    'https://example.com/a.png',
    '//example.com/a.png',
    'file:///etc/a.png',
    'javascript:a.png',
    'drawing.svg',
  ])('%s is none of them', (value) => {
    const item = itemWith({ value });
    expect(mediaOf(item, item)).toEqual([]);
  });

  test('are loaded from the server of the page, and one that is gone says so', async () => {
    mockServer({ '/api/runs/a1b2c3/items/key-0/media': errorResponse(404, 'charts/a.png is gone') });
    const item = itemWith({ chart: 'charts/a.png', sound: 'b.wav' }, { image: PIXEL });
    render(
      <QueryClientProvider client={new QueryClient()}>
        <MediaList runId="a1b2c3" item={item} execution={item} />
      </QueryClientProvider>,
    );
    const address = (path: string) => `/api/runs/a1b2c3/items/key-0/media?path=${encodeURIComponent(path)}`;
    expect(screen.getByLabelText('b.wav')).toHaveAttribute('src', address('b.wav'));
    expect(screen.getByRole('img', { name: 'metadata.image' })).toHaveAttribute('src', PIXEL);
    const chart = screen.getByRole('img', { name: 'charts/a.png' });
    expect(chart).toHaveAttribute('src', address('charts/a.png'));
    expect(chart).toHaveAttribute('loading', 'lazy');
    fireEvent.error(chart);
    const [figure] = screen.getAllByRole('figure');
    expect(await within(figure as HTMLElement).findByText('charts/a.png is gone')).toBeVisible();
    expect(screen.queryByRole('img', { name: 'charts/a.png' })).toBeNull();
  });
});
