/** The SDK of A2A signs cards with it, which no test does. Jest loads no ES modules. */
module.exports = {};
