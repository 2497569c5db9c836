import type { Browser } from 'playwright-core';
import { ServiceClient } from '../../client/http/index';
import { openBrowser } from './browser';
import type { ConsoleBed } from './console-bed';
import { openConsole } from './console-bed';
import { closeVisited } from './console-pages';

export const deskProject = 'test/browser/console-project/holdfast.config.ts';

export interface ConsoleDesk {
  readonly bed: ConsoleBed;
  readonly browser: Browser;
  readonly service: ServiceClient;
}

export function useConsole(config?: string, onClosed: () => void = () => undefined): ConsoleDesk {
  const desk: { bed?: ConsoleBed; browser?: Browser; service?: ServiceClient } = {};
  beforeAll(async () => {
    [desk.bed, desk.browser] = await Promise.all([openConsole(config), openBrowser()]);
    desk.service = new ServiceClient(desk.bed.url);
  });
  afterEach(closeVisited);
  afterAll(async () => {
    await desk.browser?.close();
    await desk.bed?.close();
    onClosed();
  });
  return desk as ConsoleDesk;
}
