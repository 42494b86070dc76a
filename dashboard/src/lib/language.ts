// The language of a text: by the name of its file, or by what it looks like.

const BY_EXTENSION = new Map(
  Object.entries({
    bash: 'bash',
    cjs: 'javascript',
    css: 'css',
    diff: 'diff',
    go: 'go',
    html: 'xml',
    java: 'java',
    js: 'javascript',
    json: 'json',
    jsonl: 'json',
    jsx: 'javascript',
    lock: 'ini',
    mjs: 'javascript',
    patch: 'diff',
    py: 'python',
    rs: 'rust',
    sh: 'bash',
    sql: 'sql',
    svg: 'xml',
    toml: 'ini',
    ts: 'typescript',
    tsx: 'typescript',
    xml: 'xml',
    yaml: 'yaml',
    yml: 'yaml',
  }),
);

/** The language of a file. */
export function languageOfFile(path: string): string | undefined {
  const extension = /\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase();
  return extension === undefined ? undefined : BY_EXTENSION.get(extension);
}

/** Marks that plain text hardly has: headings, fences, lists, tables, links, emphasis. */
const MARKDOWN =
  /^#{1,6} \S|^```|^\s*(?:[-*+]|\d+\.) \S.*\n\s*(?:[-*+]|\d+\.) \S|^\|.+\|\s*\n\|[\s:|-]+\||\*\*\S[^*\n]*\*\*|\[[^\]\n]+\]\([^)\s]+\)|`[^`\n]+`/m;

/** Whether a text is better read as Markdown. */
export const isMarkdown = (text: string) => MARKDOWN.test(text);
