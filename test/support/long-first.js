const { relative } = require('node:path');
const { default: Sequencer } = require('@jest/test-sequencer');

/** The files that take longest, for a fresh clone, which has no times of an earlier run. */
const longest = [
  'kill/kill',
  'kill/stream',
  'integration/parity',
  'integration/parity-others',
  'product/cli',
  'product/service',
  'integration/late-limits',
  'integration/late-answers',
  'integration/worker-middleware',
];

/**
 * Files that wait for servers and processes begin with the longest ones. Files that compute stand evenly between them, so that all cores are used: a
 * fifth of them is left, which fills the end.
 */
module.exports = class LongFirst extends Sequencer {
  sort(tests) {
    const computing = ['unit', 'cases'];
    const isComputing = ({ context }) => computing.includes(context.config.displayName?.name);
    const placeOf = ({ context, path }) => {
      const place = longest.indexOf(relative(`${context.config.rootDir}/test`, path).replace(/\.test\.ts$/, ''));
      return place < 0 ? longest.length : place;
    };
    const byTime = super.sort(tests);
    const waits = byTime.filter((test) => !isComputing(test)).sort((one, other) => placeOf(one) - placeOf(other));
    const computes = byTime.filter(isComputing);
    const between = Math.floor((computes.length * 0.8) / Math.max(waits.length, 1));
    return [
      ...waits.flatMap((test, position) => [test, ...computes.slice(position * between, (position + 1) * between)]),
      ...computes.slice(waits.length * between),
    ];
  }
};
module.exports.longest = longest;
