import { signal } from '@preact/signals';
import { codeOf, messageOf } from '../../contract/errors';
import type { Failure } from '../../contract/messages/messages';
import { ServiceClient } from '../../client/http/index';

export const isServiceUp = signal(true);

/** True: the page leaves for the login. */
export const isLoginNeeded = signal(false);

export const service = new ServiceClient(location.origin, {
  fetch: async (input, init) => {
    try {
      const response = await fetch(input, outliving(init));
      isServiceUp.value = true;
      if (response.status === 401) await askForLogin(response.url);
      return response;
    } catch (error) {
      // A reader that stops learns nothing about the service.
      if (init?.signal?.aborted !== true) isServiceUp.value = false;
      throw error;
    }
  },
});

/** A request that began before a login in another tab needs no other login. */
async function askForLogin(refused: string): Promise<void> {
  if (isLoginNeeded.peek() || (!refused.endsWith('/me') && (await fetch('/me')).status !== 401)) return;
  isLoginNeeded.value = true;
  const { pathname, search, hash } = location;
  location.assign(`/login?to=${encodeURIComponent(`${pathname}${search}${hash}`)}`);
}

export function failureOf(error: unknown): Failure {
  return { code: codeOf(error) ?? 'internal', message: messageOf(error) };
}

/** Browsers cancel a larger request with its page. */
const mostOutliving = 60_000;

function outliving(init: RequestInit | undefined): RequestInit | undefined {
  if (document.visibilityState === 'visible' || typeof init?.body !== 'string' || init.body.length > mostOutliving) return init;
  return { ...init, keepalive: true };
}
