//! Finding frames for pages that are about to be added to the page cache.
//!
//! *Models:* the allocation of all pages of a window before any of them is added, so that a read does not fail half way; the slow path.
//! *Does not model:* the tree's nodes.
//! *Follows:* docs/model/reclaim.md, section 2; Linux 2.6.35, `mm/readahead.c`, `__do_page_cache_readahead`.

use super::{Allocate, Frame, Outcome};
use crate::mm::{Gfp, Request};
use crate::simulation::world::World;
use crate::task::TaskId;

/// For pages that are read: cold ones are as good, since the device fills them (`page_cache_alloc_cold`).
const READ: Gfp = Gfp::HIGHUSER_MOVABLE.with(Gfp::COLD);

/// Takes frames one by one. The task then holds them; fewer than wanted if it must die.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reserve {
    left: u32,
    request: Request,
    asked: bool,
}

impl Reserve {
    /// For `pages` pages that are read.
    pub(crate) fn read(pages: u32) -> Self {
        Self { left: pages, request: Request::page(READ), asked: false }
    }

    /// For `pages` pages that are written. With a transaction at hand reclaim must not call the file system (`AOP_FLAG_NOFS`).
    pub(crate) fn write(pages: u32, in_transaction: bool) -> Self {
        let gfp = Gfp::HIGHUSER_MOVABLE;
        let gfp = if in_transaction { gfp.without(Gfp::FS) } else { gfp };
        Self { left: pages, request: Request::page(gfp), asked: false }
    }

    /// What it asks for, page by page.
    #[cfg(test)]
    pub(crate) fn request(&self) -> Request {
        self.request
    }

    pub(super) fn step(&mut self, world: &mut World, me: TaskId) -> Outcome {
        let asked = std::mem::take(&mut self.asked);
        while self.left != 0 {
            let frame = if asked
                && let Some(memory) = &mut world.memory
                && let Some(granted) = memory.take_granted(me)
            {
                let Some(frame) = granted else { break };
                frame
            } else if let Some(frame) = world.allocate_at_once(me, self.request) {
                frame
            } else {
                self.asked = true;
                world.follow_up_memory(me);
                return world.call(Frame::Allocate(Allocate::new(world, me, self.request)));
            };
            self.left -= 1;
            if let Some(memory) = &mut world.memory {
                memory.held[me.index()].push(frame);
            }
        }
        world.follow_up_memory(me);
        Outcome::Done
    }
}
