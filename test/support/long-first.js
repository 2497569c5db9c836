const { default: Sequencer } = require('@jest/test-sequencer');

const projects = ['long', 'kill', 'product', 'integration', 'conformance', 'host', 'unit', 'cases'];

/** What waits for servers and processes begins first, so that the short ones fill the end. A fresh clone knows no times of its own. */
module.exports = class LongFirst extends Sequencer {
  sort(tests) {
    const rank = ({ context }) => projects.indexOf(context.config.displayName?.name ?? '');
    return [...super.sort(tests)].sort((one, other) => rank(one) - rank(other));
  }
};
