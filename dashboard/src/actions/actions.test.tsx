import { screen, waitFor, within } from '@testing-library/react';
import { describe, expect, test } from 'vitest';
import type { Job } from '../api/types';
import { renderPage } from '../test/render';
import { errorResponse, mockServer } from '../test/server';
import type { ActionRun } from './action-run';
import { DeleteButton } from './delete-button';
import { JobPanel } from './job-panel';
import { RunActions } from './run-actions';
import { StartExperiment } from './start-experiment';

const RUN: ActionRun = {
  id: 'a1b2c3',
  name: 'answers',
  tags: ['nightly'],
  state: 'finished',
  isPartial: false,
  isBaseline: false,
  isReplaced: false,
  failed: 3,
};

const WRITER = { canWrite: true };

const job = (given: Partial<Job> = {}): Job => ({
  id: '0f',
  kind: 'run',
  experiment: 'answers',
  command: 'cargo cobalt run --experiment=answers',
  state: 'running',
  startedAt: '2026-02-05T10:00:00.000Z',
  isBuilt: false,
  runs: [],
  lines: 0,
  ...given,
});

/** Records what is sent to a path. */
function recorder(answer: object) {
  const sent: unknown[] = [];
  const respond = (_: URLSearchParams, body?: unknown) => {
    sent.push(body);
    return answer;
  };
  return { sent, respond };
}

async function openMenu(run: ActionRun, session = WRITER as Parameters<typeof renderPage>[1]['session']) {
  const shown = renderPage(() => <RunActions run={run} />, { at: '/', session });
  await shown.user.click(screen.getByRole('button', { name: 'Actions' }));
  return { ...shown, menu: within(await screen.findByRole('menu')) };
}

test('a page of a remote store has no actions', () => {
  mockServer({});
  const all = () => (
    <>
      <RunActions run={RUN} />
      <StartExperiment />
      <DeleteButton ids={[RUN.id]} />
    </>
  );
  renderPage(all, { at: '/', session: { canWrite: false, reason: 'remoteStore' } });
  expect(screen.queryByRole('button')).not.toBeInTheDocument();
});

describe('the menu of a run', () => {
  test('is disabled without permission and says how to get it', async () => {
    mockServer({});
    const { menu } = await openMenu(RUN, { canWrite: false, reason: 'noToken' });
    expect(menu.getByText(/open the link that cargo cobalt serve printed/)).toBeVisible();
    for (const item of menu.getAllByRole('menuitem')) expect(item).toHaveAttribute('aria-disabled', 'true');
  });

  test('saves a failed run as the baseline only after a warning', async () => {
    let saved: unknown[] = [];
    mockServer({
      '/api/runs/a1b2c3/baseline': (_: URLSearchParams, body?: unknown) => {
        saved = [...saved, body];
        return (body as { allowFailed?: boolean }).allowFailed
          ? {
              experiment: 'answers',
              path: '.cobalt/baselines/answers.json',
              warnings: ['3 of 12 items failed'],
            }
          : errorResponse(409, 'this run failed', 'failed');
      },
    });
    const { menu, user } = await openMenu(RUN);
    await user.click(menu.getByRole('menuitem', { name: 'Set as baseline…' }));
    await user.click(screen.getByRole('button', { name: 'Set as baseline' }));
    expect(await screen.findByRole('alert')).toHaveTextContent('this run failed');
    await user.click(screen.getByRole('button', { name: 'Set anyway' }));
    expect(await screen.findByRole('dialog', { name: 'Baseline saved' })).toHaveTextContent(
      '3 of 12 items failed',
    );
    expect(saved).toEqual([{}, { allowFailed: true }]);
  });

  test('sends only the labels that were edited', async () => {
    const { sent, respond } = recorder({ id: 'a1b2c3', tags: ['nightly', 'v2'] });
    mockServer({ '/api/runs/a1b2c3': respond });
    const { menu, user } = await openMenu({ ...RUN, note: 'as before' });
    await user.click(menu.getByRole('menuitem', { name: /Name, tags/ }));
    expect(screen.getByRole('button', { name: 'Save' })).toBeDisabled();
    await user.type(screen.getByLabelText('Name'), 'tuned');
    await user.type(screen.getByLabelText('Tags'), ', v2');
    await user.click(screen.getByRole('button', { name: 'Save' }));
    await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument());
    expect(sent).toEqual([{ runName: 'tuned', tags: ['nightly', 'v2'] }]);
  });

  test('reruns failed items of the newest run, and resumes an interrupted one', async () => {
    const { sent, respond } = recorder(job());
    mockServer({ '/api/jobs': respond });
    const { menu, user, unmount } = await openMenu(RUN);
    await user.click(menu.getByRole('menuitem', { name: 'Rerun failed items…' }));
    expect(screen.getByRole('dialog')).toHaveTextContent('3 failed items');
    await user.click(screen.getByRole('button', { name: 'Rerun' }));
    await waitFor(() => expect(sent).toEqual([{ kind: 'rerunFailed', run: 'a1b2c3' }]));
    unmount();
    const interrupted = await openMenu({ ...RUN, state: 'cut-off' });
    await interrupted.user.click(interrupted.menu.getByRole('menuitem', { name: 'Resume…' }));
    await interrupted.user.click(screen.getByRole('button', { name: 'Resume' }));
    await waitFor(() => expect(sent.at(-1)).toEqual({ kind: 'resume', run: 'a1b2c3' }));
    interrupted.unmount();
    const { menu: replaced } = await openMenu({ ...RUN, isReplaced: true });
    expect(replaced.getByRole('menuitem', { name: /newest run only/ })).toHaveAttribute(
      'aria-disabled',
      'true',
    );
  });

  test('shows why the server refuses', async () => {
    mockServer({ '/api/jobs': errorResponse(409, 'another job is running', 'busy') });
    const { menu, user } = await openMenu(RUN);
    await user.click(menu.getByRole('menuitem', { name: 'Rerun failed items…' }));
    await user.click(screen.getByRole('button', { name: 'Rerun' }));
    expect(await screen.findByRole('alert')).toHaveTextContent('another job is running');
  });
});

describe('deleting runs', () => {
  const plan = {
    runs: ['b'],
    kept: [{ id: 'a', reason: 'it is the source of the baseline of `answers`' }],
    files: [
      { kind: 'results', count: 1, bytes: 1200 },
      { kind: 'workspaces', count: 1, bytes: 3_400_000 },
    ],
    bytes: 3_401_200,
    notes: [],
  };

  test('says what it frees and what stays, and deletes the rest', async () => {
    const { sent, respond } = recorder(plan);
    mockServer({ '/api/runs/delete': respond });
    const deleted: string[][] = [];
    const { user } = renderPage(
      () => <DeleteButton ids={['a', 'b']} onDeleted={(ids) => deleted.push(ids)} />,
      {
        at: '/',
        session: WRITER,
      },
    );
    await user.click(screen.getByRole('button', { name: 'Delete' }));
    const dialog = await screen.findByRole('dialog', { name: 'Delete 2 runs' });
    await waitFor(() => expect(dialog).toHaveTextContent('Frees 3.4 MB'));
    expect(dialog).toHaveTextContent('1 result file, kept workspaces of 1 run');
    expect(dialog).toHaveTextContent('a: it is the source of the baseline of answers');
    await user.click(screen.getByRole('button', { name: 'Delete 1 run' }));
    await waitFor(() => expect(deleted).toEqual([['b']]));
    expect(sent).toEqual([{ ids: ['a', 'b'], dryRun: true }, { ids: ['b'] }]);
  });

  test('is impossible if all have to stay', async () => {
    mockServer({ '/api/runs/delete': { ...plan, runs: [], files: [], bytes: 0 } });
    const { user } = renderPage(() => <DeleteButton ids={['a']} />, { at: '/', session: WRITER });
    await user.click(screen.getByRole('button', { name: 'Delete' }));
    const dialog = within(await screen.findByRole('dialog'));
    expect(await dialog.findByText('Cannot be deleted:')).toBeVisible();
    expect(dialog.getByRole('button', { name: 'Delete' })).toBeDisabled();
  });
});

describe('starting an experiment', () => {
  test('sends the experiment and the budget', async () => {
    const { sent, respond } = recorder(job());
    mockServer({ '/api/jobs': respond });
    const { user } = renderPage(() => <StartExperiment name="answers" />, { at: '/', session: WRITER });
    await user.click(screen.getByRole('button', { name: 'Run again…' }));
    await user.type(screen.getByLabelText(/Budget/), '0.5');
    await user.click(screen.getByRole('button', { name: 'Run' }));
    await waitFor(() => expect(sent).toEqual([{ kind: 'run', experiment: 'answers', maxCost: 0.5 }]));
  });

  test('is disabled without permission', () => {
    mockServer({});
    renderPage(() => <StartExperiment />, { at: '/', session: { canWrite: false, reason: 'readOnly' } });
    const button = screen.getByRole('button', { name: 'Run…' });
    expect(button).toBeDisabled();
    expect(button).toHaveAttribute('title', expect.stringContaining('--read-only'));
  });
});

describe('the job panel', () => {
  const output = (state: Job) => ({ job: state, first: 0, output: ['Compiling answers', '<img src=x>'] });

  test('shows the output and the runs of a running job, and stops it', async () => {
    const running = job({
      isBuilt: true,
      lines: 2,
      runs: [{ id: 'f00', name: 'answers', totalItems: 3, finishedItems: 1, isFinished: false }],
    });
    const { sent, respond } = recorder(job({ state: 'stopping' }));
    mockServer({
      '/api/jobs': { jobs: [running] },
      '/api/jobs/0f': output(running),
      '/api/jobs/0f/stop': respond,
    });
    const { user } = renderPage(JobPanel, { at: '/', session: WRITER });
    const panel = within(await screen.findByRole('region', { name: 'Job' }));
    expect(await panel.findByText(/<img src=x>/)).toBeVisible();
    expect(panel.getByRole('link', { name: 'answers' })).toHaveAttribute('href', '/runs/f00');
    expect(panel.getByText('1 of 3 items')).toBeVisible();
    await user.click(panel.getByRole('button', { name: 'Stop' }));
    await waitFor(() => expect(sent).toEqual([{}]));
    expect(await panel.findByText('Stopping')).toBeVisible();
    await user.click(panel.getByRole('button', { name: 'Hide output' }));
    expect(panel.queryByRole('log')).not.toBeInTheDocument();
  });

  test('asks once for output that cannot be loaded', async () => {
    let asked = 0;
    const running = job({ lines: 3 });
    mockServer({
      '/api/jobs': { jobs: [running] },
      '/api/jobs/0f': () => {
        asked += 1;
        // The first answer lacks a line, and then the server has no output any more.
        return asked === 1 ? output(running) : errorResponse(404, 'no job 0f');
      },
    });
    renderPage(JobPanel, { at: '/', session: WRITER });
    expect(await screen.findByText(/Compiling answers/)).toBeVisible();
    await waitFor(() => expect(asked).toBe(2));
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(asked).toBe(2);
  });

  test('is not shown for a job that ended before, and without permission it cannot stop one', async () => {
    const requests = mockServer({ '/api/jobs': { jobs: [job({ state: 'finished' })] } });
    const ended = renderPage(JobPanel, { at: '/', session: WRITER });
    await waitFor(() => expect(requests).toHaveLength(1));
    expect(screen.queryByRole('region', { name: 'Job' })).not.toBeInTheDocument();
    ended.unmount();
    mockServer({ '/api/jobs': { jobs: [job()] }, '/api/jobs/0f': output(job()) });
    renderPage(JobPanel, { at: '/' });
    expect(await screen.findByText('Building')).toBeVisible();
    expect(screen.queryByRole('button', { name: 'Stop' })).not.toBeInTheDocument();
  });
});
