const nothing = 'export default {}';

/**
 * What libraries load and errand does not use, with the code that the build puts in its place: commander's executable
 * subcommands (3 ms), undici's HTTP/2 and the bodies of its fetch (10 ms), the colours that cli-table3 gives to borders.
 * The server of the Model Context Protocol would check what a client's user answers with a JSON Schema engine (300 kB); errand
 * takes one yes of it, and looks at that itself. cli-table3 also measures texts by an older Unicode (20 ms); it gets only texts whose every UTF-16 unit takes one column.
 */
export const stubs = [
  { library: 'commander', module: 'node:child_process', code: nothing },
  { library: 'undici', module: './client-h2.js', code: nothing },
  { library: 'undici', module: '../web/fetch/body.js', code: nothing },
  {
    library: '@modelcontextprotocol',
    module: '@modelcontextprotocol/server/_shims',
    code: "export { default as process } from 'node:process'; export class DefaultJsonSchemaValidator { getValidator() { throw new Error('no JSON Schema is checked'); } }",
  },
  { library: 'cli-table3', module: '@colors/colors/safe', code: nothing },
  { library: 'cli-table3', module: 'string-width', code: 'module.exports = (text) => text.length' },
];
