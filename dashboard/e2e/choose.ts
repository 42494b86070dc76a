// Chooses an option of a select, as a user does.
import type { Page } from '@playwright/test';

/** Opens the select with the accessible name, and clicks the option. */
export async function choose(page: Page, select: string, option: string): Promise<void> {
  await page.getByRole('combobox', { name: select, exact: true }).click();
  await page.getByRole('option', { name: option, exact: true }).click();
}
