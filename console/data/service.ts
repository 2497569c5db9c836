import { signal } from '@preact/signals';
import { ServiceClient } from '../../http/index';

export const isServiceUp = signal(true);

/** The service of this page. Each request notes whether the service answers. */
export const service = new ServiceClient(location.origin, {
  fetch: async (input, init) => {
    try {
      const response = await fetch(input, outliving(init));
      isServiceUp.value = true;
      return response;
    } catch (error) {
      // A reader that stops learns nothing about the service.
      if (init?.signal?.aborted !== true) isServiceUp.value = false;
      throw error;
    }
  },
});

/** A larger request cannot outlive its page in browsers. */
const mostOutliving = 60_000;

/** A request that begins while the page closes must still arrive. */
function outliving(init: RequestInit | undefined): RequestInit | undefined {
  if (document.visibilityState === 'visible' || typeof init?.body !== 'string' || init.body.length > mostOutliving) return init;
  return { ...init, keepalive: true };
}
