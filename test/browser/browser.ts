import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Browser } from 'playwright-core';
import { chromium } from 'playwright-core';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** Without Chromium the tests fail instead of being skipped. */
export function openBrowser(...flags: readonly string[]): Promise<Browser> {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const found = names.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path));
  if (found === undefined) throw new Error(`There is no Chromium on the PATH: ${names.join(', ')}.`);
  return chromium.launch({ executablePath: found, args: ['--no-sandbox', ...flags] });
}
