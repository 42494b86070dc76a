import { render, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, test } from 'vitest';
import type { Transcript } from '../../api/types';
import { transcript, turn, userUsage } from '../../test/conversation';
import { Conversation } from '.';

const draw = (given: Partial<Transcript>) => render(<Conversation transcript={transcript(given)} />);

const turns = () => within(screen.getByRole('list', { name: 'Turns' }));

describe('a conversation', () => {
  test('shows the messages of each turn with what it took and called', () => {
    draw({
      turns: [
        turn({ tokens: 1234, cost: 0.0012, modelCalls: 2, toolCalls: ['search_rooms', 'price'] }),
        turn({ message: 'Friday <b>', reply: 'Booked.' }),
      ],
    });
    const first = turns().getByRole('listitem', { name: 'Turn 1' });
    expect(first).toHaveTextContent('420 ms, 1,234 tokens, agent cost $0.0012, 2 model calls');
    expect(first).toHaveTextContent(/UserA room in York, please\..*AgentFor which night\?/);
    const calls = within(first).getByRole('list', { name: 'Tool calls' });
    expect(within(calls).getAllByRole('listitem')).toHaveLength(2);
    expect(turns().getByRole('listitem', { name: 'Turn 2' })).toHaveTextContent('Friday <b>');
    expect(screen.getByText('End of the script')).toBeVisible();
    expect(screen.getByText('Scripted user')).toBeVisible();
  });

  test('shows which expectations of the script were met and which were missed', () => {
    const checks = [
      { expected: 'contains "Friday"', passed: false },
      { expected: 'calls book', passed: true },
    ];
    draw({ turns: [turn({ checks })] });
    const list = within(screen.getByRole('list', { name: 'Expectations' }));
    expect(list.getAllByRole('listitem').map((line) => line.textContent)).toEqual([
      'Missedcontains "Friday"',
      'Metcalls book',
    ]);
  });

  test('shows the expectations of turns that were not played as missed, apart from the turns', () => {
    const unplayed = [
      { expected: 'turn 2, which was not played: contains <b>"York"</b>', passed: false },
      { expected: 'turn 3, which was not played: calls book', passed: false },
    ];
    draw({ turns: [turn()], end: 'agent-ended', unplayed });
    const name = 'Expectations of turns that were not played';
    const list = within(screen.getByRole('list', { name }));
    expect(list.getAllByRole('listitem').map((line) => line.textContent)).toEqual([
      'Missedturn 2, which was not played: contains <b>"York"</b>',
      'Missedturn 3, which was not played: calls book',
    ]);
    expect(turns().queryByText('Missed')).toBeNull();
  });

  test('says nothing about turns that were not played if there are none', () => {
    draw({});
    expect(screen.queryByText(/not played/)).toBeNull();
  });

  test('says that the cost of a user is unknown if no model has a known price', () => {
    const user = userUsage({ cost: 0, unpriced: ['ours'], models: ['ours'], calls: 0, replayed: 3 });
    draw({ simulated: true, user });
    expect(screen.getByText('Simulated user').parentElement).toHaveTextContent(
      'User cost unknown (0 calls, 3 replayed, 1,000 tokens, ours)',
    );
    expect(screen.queryByText('as recorded')).toBeNull();
  });

  test('shows the error of the turn in which the agent failed', () => {
    draw({ turns: [turn(), turn({ reply: undefined, error: 'no seats' })], end: 'error' });
    const failed = turns().getByRole('listitem', { name: 'Turn 2' });
    expect(failed).toHaveTextContent('The agent failed in this turnno seats');
    expect(screen.queryAllByText('Agent')).toHaveLength(1);
  });

  test('marks the mistakes of a simulated user as its own, above and in their turn', () => {
    draw({
      turns: [turn(), turn()],
      end: 'goal-met',
      simulated: true,
      mistakes: [{ turn: 2, kind: 'told-answer', reason: 'it named the room' }],
      unchecked: 'no key',
      user: userUsage(),
    });
    const mistakes = screen.getByRole('region', { name: 'Mistakes of the simulated user' });
    expect(mistakes).toHaveTextContent('1 mistake of the simulated user, not of the agent');
    expect(mistakes).toHaveTextContent('Turn 2, told the answer:it named the room');
    const mark = 'User’s mistake: told the answer';
    expect(turns().getByRole('listitem', { name: 'Turn 1' })).not.toHaveTextContent(mark);
    expect(turns().getByRole('listitem', { name: 'Turn 2' })).toHaveTextContent(mark);
    expect(screen.getByText(/was not checked for mistakes/).parentElement).toHaveTextContent('no key');
    expect(screen.getByText('Simulated user').parentElement).toHaveTextContent(
      'Goal met2 turnsSimulated userUser cost $0.0012 (3 calls, 1,000 tokens, gpt-5.4-nano)',
    );
  });

  test('collapses long messages, and shows the rest on demand', async () => {
    draw({ turns: [turn({ reply: `${'word '.repeat(2000)}end` })] });
    expect(screen.queryByText(/end$/)).toBeNull();
    await userEvent.click(screen.getByRole('button', { name: 'Show all 10,003 characters' }));
    expect(screen.getByText(/end$/)).toBeVisible();
  });

  test('shows the first turns of a long one, and the others on demand', async () => {
    draw({ turns: Array.from({ length: 70 }, () => turn()) });
    expect(turns().getAllByRole('listitem')).toHaveLength(50);
    await userEvent.click(screen.getByRole('button', { name: 'Show all 70 turns' }));
    expect(turns().getAllByRole('listitem')).toHaveLength(70);
  });
});
