// Chooses an option of a select, as a user does.
import { screen } from '@testing-library/react';
import type { UserEvent } from '@testing-library/user-event';

/** Opens the select with the accessible name, and clicks the option. */
export async function choose(user: UserEvent, select: string, option: string): Promise<void> {
  await user.click(await screen.findByRole('combobox', { name: select }));
  await user.click(await screen.findByRole('option', { name: option }));
}
