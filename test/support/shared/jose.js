/** Jest loads no ES modules. */
module.exports = globalThis.sharedModule('jose');
