/** Lets modules import stylesheets. The build joins them into one file. */
declare module "*.css";
