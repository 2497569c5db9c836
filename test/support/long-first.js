const { relative } = require('node:path');
const { default: Sequencer } = require('@jest/test-sequencer');

/** What waits for servers and processes. The rest computes. */
const waiting = ['browser', 'long', 'kill', 'product', 'integration', 'conformance', 'host'];

/** The files that take longest, for a fresh clone, which knows no times of its own. */
const longest = [
  'long/tutorial',
  'long/init',
  'long/research',
  'long/backoffice',
  'long/parity',
  'long/checks/00-package-managers',
  'long/http-starts',
  'kill/kill',
  'kill/stream',
  'product/cli',
  'product/service',
  'integration/parity',
  'integration/late-limits',
  'integration/late-answers',
  'integration/worker-middleware',
];

/**
 * Files that wait begin with the longest ones. Those that compute stand evenly between them, so that all cores are used: a part of them is left,
 * which fills the end.
 */
module.exports = class LongFirst extends Sequencer {
  sort(tests) {
    const projectOf = ({ context }) => context.config.displayName?.name ?? '';
    const placeOf = ({ context, path }) => {
      const place = longest.indexOf(relative(`${context.config.rootDir}/test`, path).replace(/\.test\.ts$/, ''));
      return place < 0 ? longest.length : place;
    };
    const byTime = super.sort(tests);
    const waits = byTime
      .filter((test) => waiting.includes(projectOf(test)))
      .sort((one, other) => waiting.indexOf(projectOf(one)) - waiting.indexOf(projectOf(other)) || placeOf(one) - placeOf(other));
    const computes = byTime.filter((test) => !waiting.includes(projectOf(test)));
    const between = Math.floor((computes.length * 0.8) / Math.max(waits.length, 1));
    return [
      ...waits.flatMap((test, position) => [test, ...computes.slice(position * between, (position + 1) * between)]),
      ...computes.slice(waits.length * between),
    ];
  }
};
module.exports.longest = longest;
