// Images and audio that an item names: as data, or as files of the project.
import type { Execution, Item } from '../../../api/types';

export interface Media {
  /** Where the item names it, such as `input.chart`. */
  name: string;
  kind: 'image' | 'audio';
  /** The data, or the path of a file. */
  source: { data: string } | { path: string };
}

/** SVG is left out: it may hold scripts. */
const DATA = /^data:(?:(image)\/(?:png|jpeg|gif|webp|avif)|(audio)\/[a-z0-9.+-]+);base64,[a-z0-9+/=]+$/i;
const IMAGE = /\.(?:png|jpe?g|gif|webp|avif)$/i;
const AUDIO = /\.(?:wav|mp3|ogg|flac|m4a)$/i;
/** Paths are shorter; longer texts are prose that ends like a path. */
const MAX_PATH = 1000;
/** Guards against deep or very large values. */
const MAX_DEPTH = 8;
const MAX_VALUES = 10_000;

/** In the order of the fields, each source once: those of the input, the output and its metadata. */
export function mediaOf(item: Item, { output }: Execution): Media[] {
  const found = new Map<string, Media>();
  let values = 0;
  const visit = (value: unknown, name: string, depth: number) => {
    values += 1;
    if (values > MAX_VALUES) return;
    if (typeof value === 'string') {
      const media = mediumOf(value, name);
      if (media !== undefined && !found.has(value)) found.set(value, media);
    } else if (typeof value === 'object' && value !== null && depth < MAX_DEPTH) {
      for (const [key, inner] of Object.entries(value)) visit(inner, `${name}.${key}`, depth + 1);
    }
  };
  visit(item.input, 'input', 0);
  visit(output.output, 'output', 0);
  visit(output.metadata, 'metadata', 0);
  return [...found.values()];
}

function mediumOf(text: string, name: string): Media | undefined {
  if (/^data:/i.test(text)) {
    const [, image, audio] = DATA.exec(text) ?? [];
    if (image !== undefined) return { name, kind: 'image', source: { data: text } };
    return audio === undefined ? undefined : { name, kind: 'audio', source: { data: text } };
  }
  if (!isPath(text)) return undefined;
  if (IMAGE.test(text)) return { name, kind: 'image', source: { path: text } };
  return AUDIO.test(text) ? { name, kind: 'audio', source: { path: text } } : undefined;
}

/** Whether it may be the path of a file: one line, and no address. */
const isPath = (text: string) =>
  text.length <= MAX_PATH && !/[\r\n]/.test(text) && !/^(?:[a-z][a-z0-9+.-]+:|\/\/)/i.test(text);
