import { render, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import Markdown from './markdown';

const show = (text: string) => render(<Markdown>{text}</Markdown>).container;

test('headings, lists, tables, code and task lists are rendered', () => {
  show('# Title\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```json\n{"n": 1}\n```\n\n- [x] done');
  expect(screen.getByRole('heading', { name: 'Title' })).toBeVisible();
  expect(screen.getAllByRole('listitem')).toHaveLength(3);
  expect(screen.getByRole('cell', { name: '2' })).toBeVisible();
  expect(screen.getByText('"n"')).toHaveClass('hljs-attr');
  expect(screen.queryByRole('checkbox')).toBeNull();
});

test('HTML is shown as text and executes nothing', () => {
  const page = show(
    '<script>boom()</script>\n\n<img src=x onerror="boom()"> <iframe src="https://e.example"></iframe>',
  );
  expect(page.querySelector('script, img, iframe')).toBeNull();
  expect(page).toHaveTextContent('boom()');
});

test.each([
  'javascript:boom()',
  'JAVASCRIPT:boom()',
  'data:text/html,boom()',
  'vbscript:x',
  'file:///etc/passwd',
])('a link to %s is no link', (target) => {
  expect(show(`[click](<${target}>) <${target}>`).querySelector('a')).toBeNull();
  expect(screen.getByText('click')).toBeVisible();
});

test('a link to a site shows its address, and leaves the page without telling where it was', () => {
  const page = show('[https://bank.example](https://example.com/a) <https://example.com/b>');
  for (const link of screen.getAllByRole('link'))
    expect(link).toHaveAttribute('rel', 'noopener noreferrer nofollow');
  expect(page).toHaveTextContent(
    /^https:\/\/bank\.example \(https:\/\/example\.com\/a\) https:\/\/example\.com\/b$/,
  );
});

test('images from elsewhere are not loaded, images in the text are shown', () => {
  const pixel = 'data:image/png;base64,iVBORw0KGgo=';
  const page = show(
    `![chart](https://example.com/a.png) ![dot](${pixel}) ![bad](data:image/svg+xml;base64,AAAA)`,
  );
  expect([...page.querySelectorAll('img')].map((image) => image.getAttribute('src'))).toEqual([pixel]);
  expect(page).toHaveTextContent('[image: chart, https://example.com/a.png]');
  expect(screen.getByRole('link')).toHaveAttribute('href', 'https://example.com/a.png');
});

test('invisible characters are shown', () => {
  expect(show('Pa\u202eris **b**')).toHaveTextContent('Pa\\u{202e}ris b');
});

test('an image in a link is no link in it', () => {
  const page = show('[![badge](https://example.com/a.svg)](https://example.com)');
  expect(page.querySelectorAll('a')).toHaveLength(1);
  expect(page).toHaveTextContent('[image: badge, https://example.com/a.svg] (https://example.com)');
});
