mod child;
mod crash;
mod denied;
mod full_disk;
mod gitignore;
