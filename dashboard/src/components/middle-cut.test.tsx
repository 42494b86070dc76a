import { render } from '@testing-library/react';
import { expect, test } from 'vitest';
import { MiddleCut } from './middle-cut';

const parts = (name: string) => {
  const { container } = render(<MiddleCut>{name}</MiddleCut>);
  expect(container).toHaveTextContent(name.replace(/\s/g, ' '));
  return [...container.querySelectorAll('bdi > span')].map((part) => part.textContent);
};

test('a long name keeps its end, a short one is in one piece', () => {
  expect(parts('return-window-and-more-of-it-1-germany')).toEqual([
    'return-window-and-more-o',
    'f-it-1-germany',
  ]);
  expect(parts('return-window-1-de')).toEqual(['return-window-1-de']);
});

test('is not cut within a character, and stays on one line', () => {
  expect(parts('🦊'.repeat(40))?.[1]).toBe('🦊'.repeat(14));
  expect(parts('two\nlines')).toEqual(['two lines']);
});
