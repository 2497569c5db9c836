const { resolve } = require('node:path');

/** Jest loads no ES modules. The package names no entry for `require`. */
module.exports = globalThis.sharedModule(resolve(__dirname, '../../../node_modules/@octokit/webhooks-methods/dist-node/index.js'));
