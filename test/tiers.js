/** The files on a server that `npm test` plays: one for each promise that a change of any part can break. `npm run system` plays all others. */
exports.representatives = [
  'integration/run',
  'integration/tools',
  'integration/answers',
  'integration/cancels',
  'integration/chains',
  'integration/upgrade',
  'integration/isolated',
  'integration/people',
  'integration/sse',
  'integration/retry',
  'integration/access-tenants',
  'integration/parity',
  'replay/replay',
  'kill/payments',
  'kill/triggers',
  'product/cli',
  'product/service',
];

/** What `npm run system` plays in Chromium. */
exports.smoke = ['browser/console', 'browser/desk', 'browser/foreign-page', 'browser/notices'];
