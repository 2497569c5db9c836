import { ServiceClient } from '../../http/index';
import { noteAnswer } from './connection';

/** The service of this page. Every request says whether it is there. */
export const service = new ServiceClient(location.origin, {
  fetch: async (input, init) => {
    try {
      const response = await fetch(input, outliving(init));
      noteAnswer(true);
      return response;
    } catch (error) {
      // Who stops reading has learned nothing about the service.
      if (init?.signal?.aborted !== true) noteAnswer(false);
      throw error;
    }
  },
});

/** Browsers take no more of a request that goes on behind its page. */
const mostOutliving = 60_000;

/** What is sent while the page goes arrives all the same. */
function outliving(init: RequestInit | undefined): RequestInit | undefined {
  if (document.visibilityState === 'visible' || typeof init?.body !== 'string' || init.body.length > mostOutliving) return init;
  return { ...init, keepalive: true };
}
