// The classes of rendered Markdown.
export const MARKDOWN_LOOK = [
  'flex flex-col gap-3 [overflow-wrap:anywhere]',
  '[&_:is(h1,h2)]:font-semibold [&_:is(h1,h2)]:text-base [&_:is(h3,h4,h5,h6)]:font-semibold',
  '[&_ul]:list-disc [&_ol]:list-decimal [&_:is(ul,ol)]:pl-6 [&_.contains-task-list]:list-none [&_.contains-task-list]:pl-1',
  '[&_a]:text-accent [&_a]:underline [&_img]:max-w-full',
  '[&_blockquote]:border-line [&_blockquote]:border-l-4 [&_blockquote]:pl-3 [&_blockquote]:text-muted',
  '[&_:not(pre)>code]:rounded [&_:not(pre)>code]:bg-sunken [&_:not(pre)>code]:px-1',
  '[&_code]:font-mono [&_code]:text-xs [&_pre]:overflow-x-auto [&_pre]:rounded-md [&_pre]:bg-sunken [&_pre]:p-3',
  '[&_table]:block [&_table]:overflow-x-auto [&_:is(th,td)]:border [&_:is(th,td)]:border-line [&_:is(th,td)]:px-2 [&_:is(th,td)]:py-1 [&_th]:text-left',
  '[&_hr]:border-line',
].join(' ');
